"""Page-shaped reads. Each starts from what the viewer may see."""
