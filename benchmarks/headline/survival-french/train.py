# Modèle de Cox par descente de gradient
import torch

def simuler(n):
    x = torch.randn(n, 6)
    risque = x @ torch.tensor([.8, -.5, .3, 0., 0., 0.])
    t = -torch.log(torch.rand(n)) / torch.exp(risque)
    c = torch.rand(n) * 3
    return x, torch.minimum(t, c), (t <= c).float()

def concordance(score, t, e):
    paires = bons = 0.
    for i in torch.nonzero(e)[:, 0]:
        plus_tard = t > t[i]
        paires += plus_tard.sum().item()
        bons += (score[plus_tard] < score[i]).sum().item()
    return bons / paires

def perte_cox(score, t, e):
    ordre = torch.argsort(t, descending=True)
    s, ev = score[ordre], e[ordre]
    return -((s - torch.logcumsumexp(s, 0)) * ev).sum() / ev.sum()

app, val, test = simuler(300), simuler(150), simuler(300)
modele = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optim = torch.optim.Adam(modele.parameters(), lr=0.01)
for epoque in range(1, 31):
    optim.zero_grad()
    perte = perte_cox(modele(app[0])[:, 0], *app[1:])
    perte.backward()
    optim.step()
    if epoque % 10 == 0:
        with torch.no_grad():
            cv = concordance(modele(val[0])[:, 0], *val[1:])
        print(f"Époque {epoque} : perte = {perte.item():.4f} ; c-index validation = {cv:.4f}")
with torch.no_grad():
    print(f"Résultat final — indice de concordance (test) : {concordance(modele(test[0])[:, 0], *test[1:]):.4f}")
