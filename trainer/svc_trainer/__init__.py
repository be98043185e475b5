"""A small trainer of LoRA adapters on PyTorch, behind the HTTP calls of the hosted trainers."""
