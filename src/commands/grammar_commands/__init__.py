"""The subcommands of `concord grammar`: their arguments, and what each of them runs."""
