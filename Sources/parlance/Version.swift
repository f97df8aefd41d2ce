/// The version, as `--version` and the About window tell it.
let parlanceVersion = "0.1.0"
