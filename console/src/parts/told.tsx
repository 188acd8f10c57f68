import type { ReactNode } from 'react'
import { Icon, type IconName } from '../look/icons.tsx'
import { t } from '../words/words.ts'
import { Actor, Moment, shownAs } from './values.tsx'

const icons: Readonly<Record<string, IconName>> = {
  'stage.added': 'tag',
  'stage.removed': 'cross',
  promoted: 'upload',
  received: 'download',
}

/** A line of the journal of promotions. */
export interface PromotionLine {
  readonly sequence: string
  readonly action: 'stage.added' | 'stage.removed' | 'promoted' | 'received'
  readonly stage: string | null
  readonly mode: 'copy' | 'move' | null
  readonly actor: string
  readonly actorName: string | null
  readonly comment: string | null
  readonly occurredAt: string
}

const sentenceOf = ({ action, stage, mode }: PromotionLine): string => {
  if (action === 'stage.added') return t('artifact.staged', { stage: stage ?? '' })
  if (action === 'stage.removed') return t('artifact.unstaged', { stage: stage ?? '' })
  if (action === 'received') return mode === 'move' ? t('artifact.movedHere') : t('artifact.copiedHere')
  return mode === 'move' ? t('artifact.moved') : t('artifact.copied')
}

/** What became of something, line by line. */
export function Told<Line extends PromotionLine>({
  lines,
  before,
  none,
  peer,
}: {
  readonly lines: readonly Line[]
  readonly before?: ReactNode
  /** What is said where nothing became of it. */
  readonly none?: string
  /** The other side of it, as a link. */
  readonly peer: (line: Line) => ReactNode
}) {
  if (lines.length === 0 && none !== undefined) return <p className="muted">{none}</p>
  return (
    <ol className="timeline panel">
      {before}
      {lines.map((line) => (
        <Event key={line.sequence} icon={icons[line.action] ?? 'history'} at={line.occurredAt}>
          {sentenceOf(line)} <Actor actor={line.actor} name={line.actorName} /> <Other line={line}>{peer(line)}</Other>
          {line.comment === null || line.comment === '' ? null : <p className="muted">{shownAs(line.comment)}</p>}
        </Event>
      ))}
    </ol>
  )
}

const Other = ({ line, children }: { readonly line: PromotionLine; readonly children: ReactNode }) =>
  children === null ? null : (
    <>
      {line.action === 'received' ? '←' : '→'} {children}
    </>
  )

export const Event = ({
  icon,
  at,
  children,
}: {
  readonly icon: IconName
  readonly at: string
  readonly children: ReactNode
}) => (
  <li>
    <Icon name={icon} />
    <div>
      <div>{children}</div>
      <span className="muted small">
        <Moment at={at} />
      </span>
    </div>
  </li>
)
