"""Many runs: each job of a sweep is its own process, `concord train` with settings frozen when the sweep began.

A job is identified by its run's folder. So a sweep needs no memory: a folder with DONE is done, an unfinished one resumes from
its last checkpoint, and a changed setting means another folder and hence a new job.
"""
