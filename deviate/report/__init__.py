"""The report: findings become a document, the document becomes text."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.data.plain import plain as plain
    from deviate.report.data.scores import plain_text as plain_text
    from deviate.report.data.tables import TableFile as TableFile
    from deviate.report.data.tables import csv_text as csv_text
    from deviate.report.data.tables import table_files as table_files
    from deviate.report.data.tables import table_names as table_names
    from deviate.report.document import NOTHING as NOTHING
    from deviate.report.document import Absent as Absent
    from deviate.report.document import Block as Block
    from deviate.report.document import Cell as Cell
    from deviate.report.document import Document as Document
    from deviate.report.document import Entry as Entry
    from deviate.report.document import Figure as Figure
    from deviate.report.document import Fold as Fold
    from deviate.report.document import Items as Items
    from deviate.report.document import Report as Report
    from deviate.report.document import Row as Row
    from deviate.report.document import Section as Section
    from deviate.report.document import Table as Table
    from deviate.report.document import cell as cell
    from deviate.report.document import quantities as quantities
    from deviate.report.figures.pictures import Picture as Picture
    from deviate.report.figures.pictures import pictures as pictures
    from deviate.report.format import SURROGATE as SURROGATE
    from deviate.report.format import between as between
    from deviate.report.format import clean as clean
    from deviate.report.format import confidence_text as confidence_text
    from deviate.report.format import counted as counted
    from deviate.report.format import counted_of as counted_of
    from deviate.report.format import decimals as decimals
    from deviate.report.format import duration as duration
    from deviate.report.format import group_pairs as group_pairs
    from deviate.report.format import instant as instant
    from deviate.report.format import name_text as name_text
    from deviate.report.format import number as number
    from deviate.report.format import percentage as percentage
    from deviate.report.format import ratio as ratio
    from deviate.report.format import replicates as replicates
    from deviate.report.format import size_text as size_text
    from deviate.report.format import unit_head as unit_head
    from deviate.report.format import with_unit as with_unit
    from deviate.report.forms.github import shield_lines as shield_lines
    from deviate.report.forms.registry import CHECK_FORMS as CHECK_FORMS
    from deviate.report.forms.registry import RENDERERS as RENDERERS
    from deviate.report.forms.registry import document_form as document_form
    from deviate.report.forms.registry import render as render
    from deviate.report.lines import fill_lines as fill_lines
    from deviate.report.lines import name as name
    from deviate.report.lines import pad as pad
    from deviate.report.lines import widest as widest
    from deviate.report.medium import COLUMN_IN as COLUMN_IN
    from deviate.report.numbers import PLUS_MINUS as PLUS_MINUS
    from deviate.report.numbers import Number as Number
    from deviate.report.numbers import Pieces as Pieces
    from deviate.report.numbers import ends as ends
    from deviate.report.numbers import factor as factor
    from deviate.report.numbers import share as share
    from deviate.report.numbers import text_of as text_of
    from deviate.report.numbers import whole as whole
    from deviate.report.parts.analysis_text import render_analysis as render_analysis
    from deviate.report.parts.build import build_report as build_report
    from deviate.report.parts.caption import short as short
    from deviate.report.parts.check import check_document as check_document
    from deviate.report.parts.compare import difference_cell as difference_cell
    from deviate.report.parts.compare import metric_name as metric_name
    from deviate.report.parts.compare import places_of_difference as places_of_difference
    from deviate.report.parts.compare import ratio_cell as ratio_cell
    from deviate.report.parts.compare import verdict_word as verdict_word
    from deviate.report.parts.describe import cell_of as cell_of
    from deviate.report.parts.doctor_text import render_diagnosis as render_diagnosis
    from deviate.report.parts.overhead import overhead_document as overhead_document
    from deviate.report.parts.plan_text import plan_lines as plan_lines
    from deviate.report.parts.plan_text import plan_notes as plan_notes
    from deviate.report.parts.plan_text import plan_table as plan_table
    from deviate.report.parts.sweep import sweep_document as sweep_document
    from deviate.report.parts.table_cells import EMPTY as EMPTY
    from deviate.report.parts.table_cells import Footnotes as Footnotes
    from deviate.report.parts.table_cells import absent as absent
    from deviate.report.plots import BreakdownLine as BreakdownLine
    from deviate.report.plots import BreakdownPlot as BreakdownPlot
    from deviate.report.plots import MatrixPlot as MatrixPlot
    from deviate.report.plots import StepLine as StepLine
    from deviate.report.plots import StepsPlot as StepsPlot

load_on_first_use(__name__)
