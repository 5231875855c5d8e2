"""The contracts of losses, learners and terms: the laws of each, once, as a list of functions of a sample.

``rffboost_ext.testing`` runs all laws. A fit runs those that it relies on, once, for parts of users' own classes.
"""
