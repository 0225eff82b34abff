"""The command line: parser, composition root, signals, terminal and exit codes; the only room that knows all others.

=================  ==================================================================
`main`             from arguments to an exit code
`parser`           every command, its help and its examples
`compose`          from a `Config` to a running service
`embedding`        the same for one's own program or tests, in one call
`run`              a service with its view, its keyboard, its signals and its control endpoint
`remote`           commands that reach a running service through the control endpoint
`wording`          observations in words
`screen`           the live view of a terminal
`terminal`         what may be written to a terminal, and how
=================  ==================================================================
"""
