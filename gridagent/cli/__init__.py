"""The command line: parser, composition root, signals, terminal and exit codes; the only room that knows all others.

==================================  =========================================================
`main`, `parser`, `vocabulary`      from arguments to an exit code; the grammar; the words
`compose`, `embedding`              from a `Config` to a running service; the same in one call
`run`                               a service in the foreground, from its first task to its end
`view`, `scene`, `screen`           what is shown: lines, JSON, or a picture
`wording`, `safe_text`              observations in words; nothing in them touches a terminal
`keyboard`, `commands`, `terminal`  typed lines, the controls they mean, the streams
`remote`                            commands that reach a running service
`signals`, `instance`, `journal`    signals; one service an avatar; the log
`check`, `presets`, `simulate`      commands of their own
==================================  =========================================================
"""
