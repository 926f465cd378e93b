// Nothing: code under test calls the functions of this target in the place of those that they
// replace, and CRaceLab.h declares what the Swift half calls.
