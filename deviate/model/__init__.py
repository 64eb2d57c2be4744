"""The values that cross the walls between rooms: frozen, typed, and without behaviour of their own.

analysis gives an `Analysis`; the user's choice makes it a `Selection`; instrument freezes a `Snapshot`;
replay fills run folders; records reads them back as an `Experiment`; stats judges and gives `Findings`.

Conventions: `file` is relative to the project root with forward slashes; lines count from 1, columns from 0 in
characters; times are in seconds, points in time in seconds since the epoch (UTC).
"""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.model.aggregates import AGGREGATES as AGGREGATES
    from deviate.model.aggregates import AT as AT
    from deviate.model.aggregates import AT_BEST as AT_BEST
    from deviate.model.aggregates import MEAN_LAST as MEAN_LAST
    from deviate.model.aggregates import refuse_aggregate as refuse_aggregate
    from deviate.model.analysis import REPORTED_OTHERWISE as REPORTED_OTHERWISE
    from deviate.model.analysis import TEXT_SINK as TEXT_SINK
    from deviate.model.analysis import TEXT_SINKS as TEXT_SINKS
    from deviate.model.analysis import Analysis as Analysis
    from deviate.model.analysis import Direction as Direction
    from deviate.model.analysis import Hazard as Hazard
    from deviate.model.analysis import InputUse as InputUse
    from deviate.model.analysis import Loop as Loop
    from deviate.model.analysis import LoopCounter as LoopCounter
    from deviate.model.analysis import LoopKind as LoopKind
    from deviate.model.analysis import Metric as Metric
    from deviate.model.analysis import Place as Place
    from deviate.model.analysis import Rejected as Rejected
    from deviate.model.analysis import RejectionReason as RejectionReason
    from deviate.model.analysis import Role as Role
    from deviate.model.analysis import SeedCall as SeedCall
    from deviate.model.analysis import SideEffect as SideEffect
    from deviate.model.analysis import SideEffectKind as SideEffectKind
    from deviate.model.analysis import Site as Site
    from deviate.model.analysis import Span as Span
    from deviate.model.analysis import TapForm as TapForm
    from deviate.model.comparisons import Aggregated as Aggregated
    from deviate.model.comparisons import Attainment as Attainment
    from deviate.model.comparisons import AttainmentComparison as AttainmentComparison
    from deviate.model.comparisons import Comparison as Comparison
    from deviate.model.comparisons import Completion as Completion
    from deviate.model.comparisons import CompletionComparison as CompletionComparison
    from deviate.model.comparisons import Contrast as Contrast
    from deviate.model.comparisons import CurveComparison as CurveComparison
    from deviate.model.comparisons import Description as Description
    from deviate.model.comparisons import Equivalence as Equivalence
    from deviate.model.comparisons import FurtherFigure as FurtherFigure
    from deviate.model.comparisons import ManyTable as ManyTable
    from deviate.model.comparisons import Paired as Paired
    from deviate.model.comparisons import SpreadVerdict as SpreadVerdict
    from deviate.model.comparisons import SpreadWord as SpreadWord
    from deviate.model.comparisons import TaskFindings as TaskFindings
    from deviate.model.comparisons import Verdict as Verdict
    from deviate.model.comparisons import Word as Word
    from deviate.model.design import Design as Design
    from deviate.model.design import DesignRow as DesignRow
    from deviate.model.design import Pilot as Pilot
    from deviate.model.design import PilotSide as PilotSide
    from deviate.model.design import Planning as Planning
    from deviate.model.design import PlanningRow as PlanningRow
    from deviate.model.design import Question as Question
    from deviate.model.diagnosis import Answer as Answer
    from deviate.model.diagnosis import Concern as Concern
    from deviate.model.diagnosis import Control as Control
    from deviate.model.diagnosis import DeviceType as DeviceType
    from deviate.model.diagnosis import Diagnosis as Diagnosis
    from deviate.model.diagnosis import Framework as Framework
    from deviate.model.diagnosis import Interpreter as Interpreter
    from deviate.model.diagnosis import Machine as Machine
    from deviate.model.estimates import FAILURES as FAILURES
    from deviate.model.estimates import NOT_APPLICABLE as NOT_APPLICABLE
    from deviate.model.estimates import NOT_ASKED as NOT_ASKED
    from deviate.model.estimates import Estimate as Estimate
    from deviate.model.estimates import Interval as Interval
    from deviate.model.estimates import Reason as Reason
    from deviate.model.estimates import Score as Score
    from deviate.model.estimates import Test as Test
    from deviate.model.estimates import Unavailable as Unavailable
    from deviate.model.estimates import level_text as level_text
    from deviate.model.estimates import value_text as value_text
    from deviate.model.findings import Absorption as Absorption
    from deviate.model.findings import Agreement as Agreement
    from deviate.model.findings import ExperimentFindings as ExperimentFindings
    from deviate.model.findings import Findings as Findings
    from deviate.model.findings import NoiseFindings as NoiseFindings
    from deviate.model.findings import NoiseKind as NoiseKind
    from deviate.model.findings import NoiseRow as NoiseRow
    from deviate.model.findings import NoiseTable as NoiseTable
    from deviate.model.findings import Overhead as Overhead
    from deviate.model.findings import PairFindings as PairFindings
    from deviate.model.findings import Parting as Parting
    from deviate.model.findings import Repeatability as Repeatability
    from deviate.model.margin import MARGIN_AFTER as MARGIN_AFTER
    from deviate.model.margin import MARGIN_UNDATED as MARGIN_UNDATED
    from deviate.model.margin import date_margin as date_margin
    from deviate.model.plan import PrimaryChoice as PrimaryChoice
    from deviate.model.plan import SelectedMetric as SelectedMetric
    from deviate.model.plan import Selection as Selection
    from deviate.model.plan import Settings as Settings
    from deviate.model.plan import Snapshot as Snapshot
    from deviate.model.plan import Spec as Spec
    from deviate.model.plan import Stream as Stream
    from deviate.model.plan import Variant as Variant
    from deviate.model.published_results import PublishedComparison as PublishedComparison
    from deviate.model.published_results import PublishedFindings as PublishedFindings
    from deviate.model.published_results import PublishedResult as PublishedResult
    from deviate.model.published_results import PublishedSpread as PublishedSpread
    from deviate.model.records import IMPORTED_AS as IMPORTED_AS
    from deviate.model.records import TUNED as TUNED
    from deviate.model.records import Alignment as Alignment
    from deviate.model.records import Artifact as Artifact
    from deviate.model.records import ArtifactKind as ArtifactKind
    from deviate.model.records import Captured as Captured
    from deviate.model.records import CapturedSet as CapturedSet
    from deviate.model.records import CapturedWeights as CapturedWeights
    from deviate.model.records import ControlEvent as ControlEvent
    from deviate.model.records import DrawEvent as DrawEvent
    from deviate.model.records import EvaluationData as EvaluationData
    from deviate.model.records import Experiment as Experiment
    from deviate.model.records import Flip as Flip
    from deviate.model.records import InjectedCode as InjectedCode
    from deviate.model.records import NotCaptured as NotCaptured
    from deviate.model.records import OutputKind as OutputKind
    from deviate.model.records import PastComparison as PastComparison
    from deviate.model.records import Revision as Revision
    from deviate.model.records import Run as Run
    from deviate.model.records import SeedEvent as SeedEvent
    from deviate.model.records import Series as Series
    from deviate.model.records import Spending as Spending
    from deviate.model.records import Status as Status
    from deviate.model.records import Weights as Weights
    from deviate.model.records import search_of as search_of
    from deviate.model.stability import ClassStability as ClassStability
    from deviate.model.stability import Convergence as Convergence
    from deviate.model.stability import ConvergenceRow as ConvergenceRow
    from deviate.model.stability import GroupMeasure as GroupMeasure
    from deviate.model.stability import GroupStability as GroupStability
    from deviate.model.stability import LayerDistance as LayerDistance
    from deviate.model.stability import Measure as Measure
    from deviate.model.stability import MeasureName as MeasureName
    from deviate.model.stability import Reduction as Reduction
    from deviate.model.stability import SetStability as SetStability
    from deviate.model.stability import StabilityDifference as StabilityDifference
    from deviate.model.stability import StabilityFindings as StabilityFindings
    from deviate.model.stability import StepDivergence as StepDivergence
    from deviate.model.stability import UnstableExample as UnstableExample
    from deviate.model.stability import WeakModels as WeakModels
    from deviate.model.stability import WeightStability as WeightStability

load_on_first_use(__name__)
