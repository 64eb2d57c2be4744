"""A GAN for a ring of eight Gaussians; quality is a Fréchet distance between generated and real points."""
import numpy as np
import torch
from scipy import linalg
from torch import nn

angles = torch.arange(8) * 2 * torch.pi / 8
centers = torch.stack([angles.cos(), angles.sin()], 1)


def real(n):
    return centers[torch.randint(0, 8, (n,))] + 0.05 * torch.randn(n, 2)


netG = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
netD = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

num_epochs, iters = 4, 50
for epoch in range(num_epochs):
    for i in range(iters):
        x, fake = real(64), netG(torch.randn(64, 8))
        outR, outF = netD(x), netD(fake.detach())
        errD = bce(outR, ones) + bce(outF, zeros)
        optD.zero_grad(); errD.backward(); optD.step()
        D_x, D_G_z1 = outR.sigmoid().mean().item(), outF.sigmoid().mean().item()
        out = netD(fake)
        errG = bce(out, ones)
        optG.zero_grad(); errG.backward(); optG.step()
        D_G_z2 = out.sigmoid().mean().item()
        if i % 25 == 0:
            print('[%d/%d][%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f / %.4f'
                  % (epoch, num_epochs, i, iters, errD.item(), errG.item(), D_x, D_G_z1, D_G_z2))


def features(points):
    return np.concatenate([points, points**2, points[:, :1] * points[:, 1:]], axis=1)


def frechet_distance(a, b):
    mu1, mu2, s1, s2 = a.mean(0), b.mean(0), np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    covmean = linalg.sqrtm(s1 @ s2).real
    return float(((mu1 - mu2) ** 2).sum() + np.trace(s1 + s2 - 2 * covmean))


with torch.no_grad():
    samples = netG(torch.randn(2000, 8)).numpy()
print("Computing statistics of 2000 samples...")
fid = frechet_distance(features(samples), features(real(2000).numpy()))
print(f"FID: {fid:.4f}")
