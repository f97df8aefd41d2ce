/// The version shown by `--version` and the About window.
let parlanceVersion = "0.1.0"
