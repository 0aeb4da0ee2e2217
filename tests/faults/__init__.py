"""What happens when disks fill, processes die, two work in one folder, or one works for an hour."""
