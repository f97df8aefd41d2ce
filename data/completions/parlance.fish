# Completes the options of parlance(1).
complete -c parlance -f
complete -c parlance -l help -d 'List the options and exit'
complete -c parlance -l quit -d 'Quit the running instance'
complete -c parlance -l room -x -d 'Open the room with this name or address'
complete -c parlance -l new-message -d 'Start a direct chat'
complete -c parlance -l search -d 'Search messages'
complete -c parlance -l version -d 'Print the version and exit'
