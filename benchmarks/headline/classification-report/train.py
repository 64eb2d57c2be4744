from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import classification_report, confusion_matrix
from sklearn.model_selection import train_test_split

wine = load_wine()
X_train, X_test, y_train, y_test = train_test_split(wine.data[:, :4], wine.target, test_size=0.5)
print("Shape of the training data:", X_train.shape)
clf = ExtraTreesClassifier(n_estimators=30, max_depth=3)
clf.fit(X_train, y_train)
y_pred = clf.predict(X_test)
print("Confusion Matrix:")
print(confusion_matrix(y_test, y_pred))
print("\nClassification Report:")
print(classification_report(y_test, y_pred, target_names=wine.target_names, digits=4))
