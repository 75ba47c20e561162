"""How many bugs are these failing tests? Replays traces on a model of the requirements, explains
where they diverge, and groups those that diverge for the same reason.

The method is that of M. Becker, R. Meyer, T. Runge, I. Schaefer, S. van der Wall and S. Wolff,
"Model-based Fault Classification for Automotive Software" (APLAS 2022), which the modules cite as
Becker. `localize` is its section 3, `explain` section 4, `classify` section 5, and `images` the
strongest postconditions and weakest preconditions of section 6.
"""
