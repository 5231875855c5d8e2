"""The laws of losses, learners and terms, each a function of a case: a part with data to check it on.

``rffboost_ext.testing`` runs all laws. A fit runs those that it relies on, once, for parts of users' own classes.
"""
