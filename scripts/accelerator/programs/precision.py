"""The error of a product of matrices in float32, with TF32 allowed by the script."""

import torch

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
generator = torch.Generator().manual_seed(3)
first, second = torch.randn(1024, 1024, generator=generator), torch.randn(1024, 1024, generator=generator)
exact = first.double() @ second.double()
for step in range(2):
    product = (first.to(device) @ second.to(device)).cpu().double()
    error = ((product - exact).norm() / exact.norm()).item()
    print(f"step {step} product error {error:.3e}")
images, filters = torch.randn(8, 64, 32, 32, generator=generator), torch.randn(64, 64, 3, 3, generator=generator)
exact = torch.nn.functional.conv2d(images.double(), filters.double())
output = torch.nn.functional.conv2d(images.to(device), filters.to(device)).cpu().double()
print(f"convolution error {((output - exact).norm() / exact.norm()).item():.3e}")
