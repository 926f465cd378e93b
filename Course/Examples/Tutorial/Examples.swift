import Foundation

/// Runs the examples of the Tutorial: `swift run tutorial careless`, and so on.
package enum Examples {
    package static func run(_ name: String?) async throws {
        switch name {
        case "confined":
            print("every call on the queue")
            try show(confined)
            print("\none call elsewhere")
            try show(almostConfined)
        case "careless": try show(careless)
        case "flag":
            print("relaxed")
            try show(relaxedFlag)
            print("\nreleasing and acquiring")
            try show(flag)
        case "door":
            print("releasing and acquiring")
            try show(weakDoor)
            print("\nsequentially consistent")
            try show(door)
        case "aggregate":
            print("counted before it is stored")
            try show(earlyCount)
            print("\nstored before it is counted")
            try show(lateCount)
            print("\nstored, then looked at")
            try show(noCount)
        case "pictures": await showPicture({ print($0) }, { print("failed: \($0)") })
        case "cache":
            print("PictureCache")
            try show(pictureCache)
            print("\nTaskCache")
            try show(taskCache)
        case "account": try show(account)
        case "locked-account": try show(lockedAccount)
        default:
            let usage =
                "usage: swift run tutorial "
                + "confined|careless|aggregate|flag|door|pictures|cache|account|locked-account\n"
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
    }
}
