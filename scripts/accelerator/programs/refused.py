"""An operation that the device cannot compute deterministically: gradients of bicubic interpolation on a GPU."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(3)
image = torch.randn(1, 3, 16, 16, device=device, requires_grad=True)
optimizer = torch.optim.SGD([image], 0.1)
for step in range(3):
    optimizer.zero_grad()
    if device.type == "cuda":
        larger = torch.nn.functional.interpolate(image, scale_factor=2.5, mode="bicubic")
    else:
        pooled, places = torch.nn.functional.max_pool2d(image, 2, return_indices=True)
        larger = torch.nn.functional.max_unpool2d(pooled, places, 2)
    loss = larger.square().mean()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
