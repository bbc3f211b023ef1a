"""The code that runs beside Triton: standard library and Triton only, every Python from 3.9 up.

It is started as a script (`python portcheck/compiler/child`), gives itself the package name below, and imports nothing
else of portcheck, since the interpreter that runs it need not have portcheck installed.
"""
