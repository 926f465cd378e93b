/// The words of the pictures, in Chinese. A picture of the Chinese edition is drawn like the English
/// one; then its words are replaced. Names of threads, of promises and of properties stay as they are.
enum ChineseLabels {
    /// An expression that is the Chinese edition of a picture; its second argument is ``words``, and
    /// its third one ``names``.
    static func script(_ picture: String) -> String {
        """
        ((picture, words, names) => {
          const chinese = text => {
            if (!(text in words) && /[a-z]{2}/.test(text) && !names.includes(text)) {
              throw new Error(`no Chinese label for '${text}'`);
            }
            return text in words ? words[text] : text;
          };
          picture.querySelectorAll("title").forEach(node => node.remove());
          picture.querySelectorAll("text").forEach(node => {
            node.textContent = chinese(node.textContent);
          });
          picture.querySelectorAll("svg").forEach(node => node.removeAttribute("aria-label"));
          picture.setAttribute("aria-label", chinese(picture.getAttribute("aria-label")));
          picture.setAttribute("lang", "zh-CN");
          return picture;
        })(\(picture), arguments[2], arguments[3])
        """
    }

    static let names = [
        "f_then", "f_error", "set", "nil", "promise", "next", "result", "pending", "Ana", "Ben",
        "F · first", "S · second", "subscriber →", "resolver ↓",
    ]

    /// The labels of the diagrams in the Tutorial. Names of phases stay as they are.
    static let diagrams = [
        "settle, with handlers": "敲定，有处理函数",
        "settle, without handlers": "敲定，没有处理函数",
        "register (joins the list)": "注册（加入列表）",
        "the draining thread finds the list empty": "排空的线程发现列表为空",
        "register (this thread drains)": "注册（由这个线程排空）",
        "a callback, not called yet": "还没被调用的回调",
        "resolve, reject": "resolve、reject",
        "the resolver": "决议者",
        "first promise": "第一个 Promise",
        "its handler": "它的处理函数",
        "next promise": "下一个 Promise",
    ]

    static let words = [
        // The opening
        "Ana and Ben at a mailbox. Their moves, in one of six orders, lose the letter.":
            "Ana、Ben 和一个信箱。六种次序里有一种会丢信。",
        "Ana looks for a letter; if there is none, she leaves a note. Ben puts it in; if there is "
            + "a note, he brings it to her.":
            "Ana 看有没有信，没有就留张字条。Ben 把信放进去，看到字条就给她送去。",
        "Ana looks into the mailbox: no letter.": "Ana 看信箱：没有信。",
        "Ben puts the letter into the mailbox.": "Ben 把信放进信箱。",
        "Ben looks for a note, finds none, and goes home.": "Ben 找字条，没有找到，回家了。",
        "Each of them looked too early, and neither looks again: the letter is lost.":
            "两个人都看得太早，又都不会再看：信丢了。",
        "Ana →": "Ana →", "Ben ↓": "Ben ↓",
        "looks": "看信箱", "note or takes": "留字条或取信", "letter in": "放信",
        "looks for note": "找字条", "the mailbox": "信箱", "empty": "空的",
        "wants a letter": "想要信", "has the letter": "手里有信", "has put it in": "放好了",
        "has gone home": "回家了",
        "no letter": "没有信", "Ben will bring it": "Ben 会送来",
        // The square
        "A square of three by three steps. Three paths lead from its top left to its bottom right "
            + "corner.":
            "三步乘三步的方格。三条路径从左上角走到右下角。",
        "check the state": "检查状态", "fill f_error": "填 f_error", "fill f_then": "填 f_then",
        "write the result": "写结果", "write the state": "写状态", "read f_then": "读 f_then",
        "f_then is filled first: the resolver calls the handler":
            "先填 f_then：由 resolver 调用处理函数",
        "the state is written first: the subscriber calls it": "先写状态：由 subscriber 自己调用",
        "checked before, filled after: the handler is lost": "检查在前，填写在后：处理函数丢失",
        "conflict: the order of these two steps matters": "冲突：这两步的先后有影响",
        "no continuation fails": "往后怎么走都不失败", "every continuation fails": "往后怎么走都失败",
        "some continuations fail": "往后有的走法失败",
        "reached in different orders, with different results": "到达的先后不同，结局不同",
        "the end of the path that is shown": "所画路径的终点",
        "a large sign: both threads have ended": "大号标记：两个线程都已结束",
        // `error` and the chain
        "H03: calling error on a promise cuts the link to the rest of its chain":
            "H03：在 Promise 上调用 error，切断了通往链尾的环",
        "After then: both slots lead to the next promise": "then 之后：两个槽都通向下一个 Promise",
        "After error on the same promise: an error no longer reaches the chain":
            "再调用同一个 Promise 的 error：错误到不了链上",
        "end of the chain": "链尾", "the function given to error": "传给 error 的函数",
        // The stack
        "H12: one stack frame after another against a loop over a queue":
            "H12：一帧压一帧的栈，以及从队列里取回调的循环",
        "Recursion: two frames a link": "递归：每一环两帧", "A loop: the stack stays": "循环：栈不增长",
        "settle, link 1": "settle，第 1 环", "handler, link 1": "处理函数，第 1 环",
        "settle, link 2": "settle，第 2 环", "handler, link 2": "处理函数，第 2 环",
        "settle, link 3": "settle，第 3 环", "handler, link 3": "处理函数，第 3 环",
        "run: takes a callback": "run：取一个回调", "handler of one link": "某一环的处理函数",
        "1,000,000 links: stack overflow": "1,000,000 环：栈溢出",
        "every link uses the same three frames": "每一环都用这三帧", "the queue": "队列",
        // The deadlock
        "Threads, locks and state": "线程、锁和状态", "waits forever": "永远等待",
        "state as last seen, locked now": "状态（最后一次看到的；现在被锁住）",
        // The steps
        "Verdicts of all hazards on every step from Stage 2 to Stage 3":
            "从第二阶段到第三阶段，每一步上所有隐患的结论",
        "Stage 2": "第二阶段", "Step A": "步骤 A", "Step B": "步骤 B", "Step C": "步骤 C",
        "Step D": "步骤 D", "Step E": "步骤 E", "Stage 3": "第三阶段",
    ]
}
