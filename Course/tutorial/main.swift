import TutorialExamples

try await Examples.run(CommandLine.arguments.dropFirst().first)
