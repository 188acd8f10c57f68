import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAsk } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { Icon, type IconName } from '../../look/icons.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Actor, Moment } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

const icons: Readonly<Record<string, IconName>> = {
  'stage.added': 'tag',
  'stage.removed': 'cross',
  promoted: 'upload',
  received: 'download',
}

/** Its line stands beside its publication: what came later need not be looked through. */
const soonAfter = (time: string): string => new Date(Date.parse(time) + 60_000).toISOString()

/** What became of it, from its publication on. */
export const Lifeline = ({ repository, id, publishedAt }: Of & { readonly publishedAt: string }) => {
  const allowed = useMay()('listAudit', repository)
  const published = useAsk(
    'listAudit',
    {
      path: { repository },
      query: { subject: id, action: 'artifact.publish', order: 'desc', to: soonAfter(publishedAt) },
    },
    { enabled: allowed.may },
  ).data?.items[0]
  const journal = useAsk('listArtifactPromotions', { path: { repository, id }, query: { order: 'asc', limit: 100 } })
  return (
    <Section title={t('artifact.lifeline')}>
      <Shown of={journal} rows={2}>
        {({ items }) => (
          <ol className="timeline panel">
            <Event icon="plus" at={publishedAt}>
              {published === undefined ? (
                t('artifact.published')
              ) : (
                <>
                  {t('artifact.publishedBy')} <Actor actor={published.actor} name={published.actorName} />
                </>
              )}
            </Event>
            {items.map((line) => (
              <Event key={line.sequence} icon={icons[line.action] ?? 'history'} at={line.occurredAt}>
                {sentenceOf(line)} <Actor actor={line.actor} name={line.actorName} />
                {line.peerRepository === null || line.peerArtifactId === null ? null : (
                  <>
                    {' '}
                    <Link
                      to="/r/$repository/artifacts/$id"
                      params={{ repository: line.peerRepository, id: line.peerArtifactId }}
                    >
                      {line.peerRepository}
                    </Link>
                  </>
                )}
                {line.comment === null || line.comment === '' ? null : <p className="muted">{line.comment}</p>}
              </Event>
            ))}
          </ol>
        )}
      </Shown>
    </Section>
  )
}

const sentenceOf = ({ action, stage, mode }: Answer<'listPromotions'>['items'][number]): string => {
  if (action === 'stage.added') return t('artifact.staged', { stage: stage ?? '' })
  if (action === 'stage.removed') return t('artifact.unstaged', { stage: stage ?? '' })
  if (action === 'received') return mode === 'move' ? t('artifact.movedHere') : t('artifact.copiedHere')
  return mode === 'move' ? t('artifact.moved') : t('artifact.copied')
}

const Event = ({
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
