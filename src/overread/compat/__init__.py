"""Files and commands of the projects that overread stands in for: their results in and out, their entry points."""
