# Completes the options of parlance(1).
_parlance() {
    local word=${COMP_WORDS[COMP_CWORD]}
    # An argument of --room is a name that only the program knows.
    # Bash splits --room=NAME at the equals sign.
    case ${COMP_WORDS[COMP_CWORD - 1]} in --room | =) return 0 ;; esac
    [ "$word" != = ] || return 0
    mapfile -t COMPREPLY < <(compgen -W '--help --new-message --quit --room --search --version' -- "$word")
}
complete -F _parlance parlance
