import { SegmentedControl } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { BulkAct } from '../../parts/bulk-act.tsx'
import { boxColumn, ChoiceBar, useChosen } from '../../parts/choice.tsx'
import { actorColumn, momentColumn, sizeColumn } from '../../parts/columns.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Filter } from '../../parts/filter.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Actor, ByteMark, Moment, Tag, Written } from '../../parts/values.tsx'
import { ask } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import { type OfImage, Way } from './way.tsx'

/** The tags of an image, and the removed ones that may come back. */
export const Tags = ({ repository, image }: OfImage) => {
  const { contains = '', order } = useSearch({ from: '/r/$repository/images' })
  const navigate = useNavigate({ from: '/r/$repository/images' })
  const [removing, setRemoving] = useState<{ readonly tag: string; readonly digest: string } | null>(null)
  const list = usePages('listImageTags', (after) => ({
    path: { repository },
    query: {
      image,
      limit: 100,
      order: order === 'name' ? 'name' : 'newest',
      ...(contains === '' ? {} : { contains }),
      ...(after === undefined ? {} : { after: String(after) }),
    },
  }))
  const { chosen, choose, clear } = useChosen()
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const picked = rows.filter(({ tag }) => chosen.has(tag))
  const digestOf = (tag: string): string => picked.find((row) => row.tag === tag)?.digest ?? ''
  const touch = (key: string, range: boolean): void =>
    choose(
      rows.map(({ tag }) => tag),
      key,
      range,
    )
  const remove = useChange('deleteImageTag', ['listImageTags', 'listRemovedTags'])
  const put = useChange('setImageTag', ['listImageTags', 'listRemovedTags'])
  const submit = async (): Promise<void> => {
    if (removing === null) return
    const { tag, digest } = removing
    await remove.mutateAsync({ path: { repository }, query: { image, tag, expectedDigest: digest } })
    setRemoving(null)
    tell(t('images.wasUntagged', { tag }), () =>
      put.mutateAsync({ path: { repository }, body: { image, tag, digest, expectedDigest: null } }),
    )
  }
  return (
    <Page title={image} mono lead={<Way repository={repository} image={image} />}>
      <div className="filters">
        <Filter
          label={t('images.filter')}
          value={contains}
          change={(text) => void navigate({ search: (before) => ({ ...before, contains: text }), replace: true })}
        />
        <SegmentedControl
          aria-label={t('list.order')}
          value={order === 'name' ? 'name' : 'newest'}
          onChange={(next) => void navigate({ search: (before) => ({ ...before, order: next }) })}
          data={[
            { value: 'newest', label: t('list.newest') },
            { value: 'name', label: t('list.name') },
          ]}
        />
      </div>
      <Listed
        of={list}
        label={t('images.tags')}
        keyOf={({ tag }) => tag}
        chosen={chosen}
        choose={touch}
        columns={[
          boxColumn<(typeof rows)[number]>({
            keyOf: ({ tag }) => tag,
            nameOf: ({ tag }) => tag,
            chosen,
            choose: touch,
          }),
          {
            key: 'tag',
            label: t('images.tag'),
            width: 'minmax(120px, 2fr)',
            show: ({ tag }) => (
              <Link to="/r/$repository/images" params={{ repository }} search={{ image, reference: tag }}>
                <Icon name="tag" />
                <Written mono text={tag} />
              </Link>
            ),
          },
          {
            key: 'digest',
            label: t('images.digest'),
            width: '160px',
            wide: true,
            show: ({ digest }) => (
              <span className="name">
                <ByteMark sha256={digest.slice(7)} />
                <code>{digest.slice(7, 19)}</code>
              </span>
            ),
          },
          {
            key: 'platforms',
            label: t('images.platforms'),
            width: 'minmax(120px, 2fr)',
            wide: true,
            show: ({ platforms, stages }) => (
              <span className="name">
                {stages.map((each) => (
                  <Tag key={each} tone="accent" text={each} />
                ))}
                {platforms.map((each) => (
                  <Tag key={each} text={each} />
                ))}
              </span>
            ),
          },
          sizeColumn('contentSize'),
          momentColumn('movedAt', t('images.moved'), { wide: 'middle' }),
          actorColumn({ width: 'minmax(80px, 1fr)', wide: true }),
          {
            key: 'act',
            label: t('list.actions'),
            width: '48px',
            end: true,
            show: ({ tag, digest }) => (
              <button
                type="button"
                className="plain"
                aria-label={t('images.untag', { tag })}
                onClick={() => setRemoving({ tag, digest })}
              >
                <Icon name="trash" />
              </button>
            ),
          },
        ]}
        empty={<Empty icon="tag" title={t('list.nothing')} />}
      />
      <ChoiceBar count={picked.length} clear={clear}>
        <BulkAct
          by="deleteImageTag"
          repository={repository}
          label={t('images.take')}
          what={t('images.untagging')}
          items={picked.map(({ tag }) => ({ id: tag, name: tag }))}
          touches={['listImageTags', 'listRemovedTags']}
          clear={clear}
          work={({ id: tag }) =>
            ask('deleteImageTag', { path: { repository }, query: { image, tag, expectedDigest: digestOf(tag) } })
          }
          undo={({ id: tag }) =>
            ask('setImageTag', {
              path: { repository },
              body: { image, tag, digest: digestOf(tag), expectedDigest: null },
            })
          }
        />
      </ChoiceBar>
      <Removed repository={repository} image={image} />
      <FormDialog
        title={t('images.untag', { tag: removing?.tag ?? '' })}
        open={removing !== null}
        close={() => setRemoving(null)}
        submit={() => void submit().catch(() => {})}
        label={t('images.take')}
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        <p>{t('images.untagging')}</p>
      </FormDialog>
    </Page>
  )
}

const Removed = ({ repository, image }: OfImage) => {
  const removed = useAsk('listRemovedTags', { path: { repository }, query: { image, limit: 50 } })
  const put = useChange('setImageTag', ['listImageTags', 'listRemovedTags'])
  if (removed.data === undefined || removed.data.items.length === 0) return null
  return (
    <Section title={t('images.removed')}>
      <ul className="lines">
        {removed.data.items.map(({ tag, digest, removedAt, actor, actorName }) => (
          <li key={tag} className="panel spread">
            <span className="line">
              <code>{tag}</code>
              <span className="muted small">
                <Moment at={removedAt} /> · <Actor actor={actor} name={actorName} />
              </span>
            </span>
            <Act
              by="setImageTag"
              on={repository}
              size="compact-xs"
              icon="undo"
              label={t('images.back')}
              run={() =>
                put.mutate(
                  { path: { repository }, body: { image, tag, digest, expectedDigest: null } },
                  { onError: tellProblem, onSuccess: () => tell(t('images.isBack', { tag })) },
                )
              }
            />
          </li>
        ))}
      </ul>
    </Section>
  )
}
