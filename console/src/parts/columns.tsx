import { t } from '../words/words.ts'
import type { Column } from './grid.tsx'
import { Actor, Moment, Size, Tag } from './values.tsx'

/** Columns that many lists have; each says how it differs from the others. */
type Differing = Partial<Pick<Column<never>, 'label' | 'width' | 'wide'>>

/** A moment of each row, by the field that tells it; nothing where it has not come. */
export const momentColumn = <Field extends string>(
  key: Field,
  label: string,
  differing: Differing = {},
): Column<Readonly<Record<Field, string | null>>> => ({
  key,
  label,
  width: '128px',
  ...differing,
  show: ({ [key]: at }) => (at === null ? null : <Moment at={at} />),
})

/** When a line was written. */
export const timeColumn = () => momentColumn('occurredAt', t('activity.when'), { width: '140px' })

/** When a file was published, or begun where it was not. */
export const publishedColumn = (
  differing: Differing = {},
): Column<{ readonly publishedAt: string | null; readonly createdAt: string }> => ({
  key: 'time',
  label: t('list.published'),
  width: '128px',
  ...differing,
  show: ({ publishedAt, createdAt }) => <Moment at={publishedAt ?? createdAt} />,
})

/** Who did it. */
export const actorColumn = (
  differing: Differing = {},
): Column<{ readonly actor: string; readonly actorName: string | null }> => ({
  key: 'who',
  label: t('list.who'),
  width: 'minmax(96px, 1fr)',
  ...differing,
  show: ({ actor, actorName }) => <Actor actor={actor} name={actorName} />,
})

/** How large it is, by the field that tells it. */
export const sizeColumn = <Field extends string>(field: Field): Column<Readonly<Record<Field, string>>> => ({
  key: 'size',
  label: t('list.size'),
  width: '88px',
  end: true,
  show: ({ [field]: bytes }) => <Size bytes={bytes} />,
})

/** Stages, and labels as far as there is room. */
export const stagesColumn = (
  differing: Differing = {},
): Column<{ readonly stages: readonly string[]; readonly labels: readonly string[] }> => ({
  key: 'stages',
  label: t('list.stagesAndLabels'),
  width: 'minmax(80px, 1fr)',
  wide: true,
  ...differing,
  show: ({ stages, labels }) => (
    <span className="name">
      {stages.map((each) => (
        <Tag key={each} tone="accent" text={each} />
      ))}
      {labels.slice(0, 4).map((each) => (
        <Tag key={each} text={each} />
      ))}
    </span>
  ),
})
