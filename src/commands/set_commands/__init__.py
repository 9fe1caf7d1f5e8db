"""The subcommands of `concord sets`, one file each: a parser and what it runs."""
