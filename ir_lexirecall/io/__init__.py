"""Files and objects of users, as columns."""
