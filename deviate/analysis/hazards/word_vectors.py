"""Word vectors trained by several threads."""

from deviate.analysis.hazards.names import under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.analysis.resolve.tree import constant_number

WORD_VECTOR_MODELS = under(
    ("gensim.models.",),
    "Word2Vec FastText Doc2Vec word2vec.Word2Vec fasttext.FastText doc2vec.Doc2Vec LdaMulticore",
)


@hazard("word-vectors", "timing")
def word_vectors(survey: Survey) -> Matches:
    """Word vectors trained by several threads.

    gensim's models are trained by three threads unless told otherwise, which write to the same vectors in any order.
    deviate cannot hold it in any variant.

    Example:
        from gensim.models import Word2Vec
        model = Word2Vec(sentences, seed=1)

    Instead:
        from gensim.models import Word2Vec
        model = Word2Vec(sentences, seed=1, workers=1)

    Source: gensim documentation of `Word2Vec`, parameter `seed`: "you must also limit the model to a single worker
    thread (workers=1)".
    """
    for call in survey.calls(WORD_VECTOR_MODELS):
        workers = call.argument(None, "workers")
        if workers is None or constant_number(workers) not in (0, 1):
            yield call.node, "threads write to the same vectors in any order"
