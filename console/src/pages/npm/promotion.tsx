import { TagsInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { GivenStages } from '../../parts/given-stages.tsx'
import { WhyKept } from '../../parts/kept.tsx'
import { Section } from '../../parts/page.tsx'
import { Held, PromoteTo } from '../../parts/promotion.tsx'
import { Shown } from '../../parts/states.tsx'
import { tell } from '../../parts/toasts.tsx'
import { Told } from '../../parts/told.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import type { OfVersion } from './of.ts'

const touched = ['listNpmStages', 'listNpmPromotions', 'getNpmVersion', 'listNpmVersions', 'listPromotions'] as const

/** Brings a version into another repository, with the tags that it is to have there. */
export const PromoteVersion = ({ repository, name, version }: OfVersion) => {
  const navigate = useNavigate()
  const [tags, setTags] = useState<string[]>([])
  const promote = useChange('promoteNpmVersion', touched)
  return (
    <PromoteTo
      by="promoteNpmVersion"
      repository={repository}
      busy={promote.isPending}
      error={promote.error}
      held={(target, stage) => <HeldByStage repository={target} stage={stage} />}
      submit={async ({ stages, ...wanted }) => {
        const named = { package: name, version, tags }
        const body = { ...wanted, ...named, ...(stages.length === 0 ? {} : { stages }) }
        await promote.mutateAsync({ path: { repository }, body })
        tell(t('promote.done', { target: wanted.target }))
        await navigate({
          to: '/r/$repository/npm',
          params: { repository: wanted.target },
          search: { package: name, version, tab: 'history' },
        })
      }}
    >
      <TagsInput label={t('promote.tags')} description={t('promote.npmTagsHow')} value={tags} onChange={setTags} />
    </PromoteTo>
  )
}

const HeldByStage = ({ repository, stage }: { readonly repository: string; readonly stage: string }) => {
  const may = useMay()
  const held = useAsk(
    'listNpmStages',
    { path: { repository }, query: { stage, limit: 5 } },
    { enabled: may('listNpmStages', repository).may },
  )
  return (
    <Held
      stage={stage}
      holders={held.data?.items.map((entry) => ({ ...entry, name: `${entry.package}@${entry.version}` }))}
    />
  )
}

/** The stages of a version. */
export const VersionStages = ({ repository, name, version }: OfVersion) => {
  const named = { package: name, version }
  const read = useAsk('listNpmStages', { path: { repository }, query: { ...named, limit: 100 } })
  const add = useChange('addNpmStage', touched)
  const remove = useChange('removeNpmStage', touched)
  return (
    <GivenStages
      by="addNpmStage"
      repository={repository}
      read={read}
      busy={add.isPending}
      error={add.error}
      give={(stage, comment) => add.mutateAsync({ path: { repository, stage }, body: { ...named, comment } })}
      take={(stage) => remove.mutateAsync({ path: { repository, stage }, query: named })}
    />
  )
}

/** Where a version came from, where it went, and which stages it had. */
export const VersionLifeline = ({ repository, name, version }: OfVersion) => {
  const read = useAsk('listNpmPromotions', {
    path: { repository },
    query: { package: name, version, order: 'asc', limit: 100 },
  })
  return (
    <Section title={t('artifact.lifeline')}>
      <Shown of={read} rows={2}>
        {({ items }) => (
          <Told
            none={t('artifact.stayed')}
            lines={items}
            peer={({ peerRepository }) =>
              peerRepository === null ? null : (
                <Link
                  to="/r/$repository/npm"
                  params={{ repository: peerRepository }}
                  search={{ package: name, version }}
                >
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

/** Why the storage policy keeps a version. */
export const WhyVersion = ({ repository, name, version }: OfVersion) => {
  const allowed = useMay()('explainNpmVersion', repository)
  const query = { package: name, version }
  const why = useAsk('explainNpmVersion', { path: { repository }, query }, { enabled: allowed.may })
  return <WhyKept by="explainNpmVersion" repository={repository} read={why} />
}
