"""Projects of experiment trackers: runs, grouped by their configuration, become experiments; one file per tracker."""
