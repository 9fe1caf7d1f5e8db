"""Many runs: each job of a sweep is a process of its own, `concord train` with settings that were frozen when the sweep began.

A job is known by its run's folder. So a sweep needs no memory: what has a DONE is done, what is unfinished resumes from its last
checkpoint, a changed setting is another folder and hence a new job.
"""
