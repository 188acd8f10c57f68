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
import type { OfImage } from './way.tsx'

type Of = OfImage & { readonly reference: string }

const touched = [
  'listImageStages',
  'listImagePromotions',
  'getImageManifest',
  'listImageTags',
  'listPromotions',
] as const

/** Brings an image into another repository, with what it lists and what refers to it. */
export const PromoteImage = ({ repository, image, reference }: Of) => {
  const navigate = useNavigate()
  const isTag = !reference.includes(':')
  const [tags, setTags] = useState<string[]>(isTag ? [reference] : [])
  const promote = useChange('promoteImage', touched)
  return (
    <PromoteTo
      by="promoteImage"
      repository={repository}
      busy={promote.isPending}
      error={promote.error}
      held={(target, stage) => <HeldByStage repository={target} stage={stage} />}
      submit={async ({ stages, ...wanted }) => {
        const body = { ...wanted, image, reference, tags, ...(stages.length === 0 ? {} : { stages }) }
        const done = await promote.mutateAsync({ path: { repository }, body })
        tell(t('promote.done', { target: wanted.target }))
        await navigate({
          to: '/r/$repository/images',
          params: { repository: wanted.target },
          search: { image: done.image, reference: done.tags[0] ?? done.digest, tab: 'history' },
        })
      }}
    >
      <TagsInput label={t('promote.tags')} description={t('promote.tagsHow')} value={tags} onChange={setTags} />
    </PromoteTo>
  )
}

const HeldByStage = ({ repository, stage }: { readonly repository: string; readonly stage: string }) => {
  const may = useMay()
  const held = useAsk(
    'listImageStages',
    { path: { repository }, query: { stage, limit: 5 } },
    { enabled: may('listImageStages', repository).may },
  )
  return (
    <Held
      stage={stage}
      holders={held.data?.items.map((entry) => ({ ...entry, name: `${entry.image}@${entry.digest.slice(7, 19)}` }))}
    />
  )
}

/** The stages of an image: of what its reference leads to now. */
export const ImageStages = ({ repository, image, reference }: Of) => {
  const allowed = useMay()('listImageStages', repository)
  const read = useAsk(
    'listImageStages',
    { path: { repository }, query: { image, reference, limit: 100 } },
    { enabled: allowed.may },
  )
  const add = useChange('addImageStage', touched)
  const remove = useChange('removeImageStage', touched)
  return (
    <GivenStages
      by="addImageStage"
      repository={repository}
      read={read}
      busy={add.isPending}
      error={add.error}
      give={(stage, comment) => add.mutateAsync({ path: { repository, stage }, body: { image, reference, comment } })}
      take={(stage) => remove.mutateAsync({ path: { repository, stage }, query: { image, reference } })}
    />
  )
}

/** Where an image came from, where it went, and which stages it had. */
export const ImageLifeline = ({ repository, image, reference }: Of) => {
  const read = useAsk('listImagePromotions', {
    path: { repository },
    query: { image, reference, order: 'asc', limit: 100 },
  })
  return (
    <Section title={t('artifact.lifeline')}>
      <Shown of={read} rows={2}>
        {({ items }) => (
          <Told
            none={t('artifact.stayed')}
            lines={items}
            peer={({ peerRepository, peerImage, digest }) =>
              peerRepository === null ? null : (
                <Link
                  to="/r/$repository/images"
                  params={{ repository: peerRepository }}
                  search={{ image: peerImage ?? image, reference: digest ?? reference }}
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

/** Why the storage policy keeps an image. */
export const WhyImage = ({ repository, image, reference }: Of) => {
  const allowed = useMay()('explainImage', repository)
  const why = useAsk('explainImage', { path: { repository }, query: { image, reference } }, { enabled: allowed.may })
  return <WhyKept by="explainImage" repository={repository} read={why} />
}
