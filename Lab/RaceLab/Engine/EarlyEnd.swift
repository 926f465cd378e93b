import CRaceLab
import Foundation

extension Explorer {
    /// Reports that the code under test is about to end this process.
    func report(_ end: rl_end, in run: rl_run) {
        let names = names(of: run)
        let thread = Int(end.thread)
        let who =
            names.indices.contains(thread)
            ? "'\(names[thread])'" : end.is_in_set_up ? "set-up" : "a check"
        let what: String
        if let call = end.call {
            let site = Exploration.Site.name(Symbols.sites(of: [UInt(end.pc)])[UInt(end.pc)])
            let name = String(cString: call)
            what =
                name.hasPrefix("exec") || name == "fexecve"
                ? "\(who) replaces the process by another program (\(name)) at \(site)"
                : "\(who) ends the process with \(name)(\(end.status)) at \(site)"
        } else {
            let crash = Crash(
                signal: end.status, isOverflow: end.overflow, address: UInt(end.pc),
                frames: elements(of: end.frames, end.frame_count))
            what = crash.sentence(who, message: nil)
        }
        let schedule = run.schedule.text(threads: names)
        let text = """
            RaceLab: \(what)
              in the interleaving \(schedule.isEmpty ? "that begins there" : schedule)
              To contain this and explore the other interleavings, use a child process:
              options.isolation = .childProcess()

            """
        FileHandle.standardError.write(Data(text.utf8))
    }
}
