print(acc)
