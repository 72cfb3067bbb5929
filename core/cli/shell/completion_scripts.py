"""``zonda completion SHELL``: the script that makes a shell complete zonda's command lines.

The scripts know nothing: at each press of the key they ask ``completion``, so that they fit every
version of zonda.
"""

from __future__ import annotations

import argparse
import sys

from ..arguments import argument, epilog, takes
from ..console import streams

_BASH = r"""# bash completion for zonda: eval "$(zonda completion bash)"
_zonda() {
    local IFS=$'\n' kind= line current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    [ "$current" != = ] || current=
    while read -r line; do
        if [ -z "$kind" ]; then
            kind=$line
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]}" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $kind in
        files) COMPREPLY=($(compgen -f -- "$current")) ;;
        folders) COMPREPLY=($(compgen -d -- "$current")) ;;
        *) return ;;
    esac
    compopt -o filenames 2>/dev/null
}
complete -F _zonda zonda
"""

_ZSH = r"""#compdef zonda
# zsh completion for zonda, behind compinit: eval "$(zonda completion zsh)"
_zonda() {
    local -a lines found
    local line
    lines=("${(@f)$("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    case ${lines[1]} in
        files) _files ;;
        folders) _files -/ ;;
        *)
            for line in "${(@)lines[2,-1]}"; do
                found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
            done
            _describe -V zonda found
            ;;
    esac
}
if [ "$funcstack[1]" = _zonda ]; then
    _zonda "$@"
else
    compdef _zonda zonda
fi
"""

_FISH = r"""# fish completion for zonda: zonda completion fish | source
function __zonda_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] __complete fish $words[2..-1] 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct)
        case '*'
            string join \n -- $lines[2..-1]
    end
end
complete -c zonda -e
complete -c zonda -f -k -a '(__zonda_complete)'
"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@takes(
    argument("shell", choices=tuple(_SCRIPTS), help="for which shell"),
    epilog(
        "what the shell reads at its start:\n"
        '  ~/.bashrc                   eval "$(zonda completion bash)"\n'
        '  ~/.zshrc, behind compinit   eval "$(zonda completion zsh)"\n'
        "  ~/.config/fish/config.fish  zonda completion fish | source"
    ),
)
def completion(arguments: argparse.Namespace) -> None:
    """Print the script."""
    streams.ResultStream(sys.stdout).write(_SCRIPTS[arguments.shell])
