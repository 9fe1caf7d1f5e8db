"""One file for each command: the story it tells, from what was typed to what is shown."""
