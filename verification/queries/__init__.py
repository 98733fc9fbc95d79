"""Page-shaped reads of judgements. Each starts from what the viewer may see."""
