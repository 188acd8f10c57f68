import { Link } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Event, Told } from '../../parts/told.tsx'
import { Actor } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

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
          <Told
            lines={items}
            before={
              <Event icon="plus" at={publishedAt}>
                {published === undefined ? (
                  t('artifact.published')
                ) : (
                  <>
                    {t('artifact.publishedBy')} <Actor actor={published.actor} name={published.actorName} />
                  </>
                )}
              </Event>
            }
            peer={({ peerRepository, peerArtifactId }) =>
              peerRepository === null || peerArtifactId === null ? null : (
                <Link to="/r/$repository/artifacts/$id" params={{ repository: peerRepository, id: peerArtifactId }}>
                  {peerRepository}
                </Link>
              )
            }
          />
        )}
      </Shown>
    </Section>
  )
}
