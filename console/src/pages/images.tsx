import { SegmentedControl, TextInput } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { Commands } from '../parts/copy.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Actor, ByteMark, Digest, Moment, Size, Tag } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { imageCommand } from './snippets.ts'

/** The images of a repository, the tags of one, and what is in a manifest. */
export const Images = () => {
  const { repository } = useParams({ from: '/r/$repository/images' })
  const { image, reference } = useSearch({ from: '/r/$repository/images' })
  const allowed = useMay()('listRepositoryImages', repository)
  if (!allowed.may)
    return (
      <Page title={t('tab.images')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  if (image === undefined) return <List repository={repository} />
  if (reference === undefined) return <Tags repository={repository} image={image} />
  return <Manifest repository={repository} image={image} reference={reference} />
}

const Way = ({
  repository,
  image,
  reference,
}: {
  readonly repository: string
  readonly image?: string
  readonly reference?: string
}) => (
  <nav className="crumbs" aria-label={t('files.where')}>
    <Link to="/r/$repository/images" params={{ repository }} search={{}}>
      {t('tab.images')}
    </Link>
    {image === undefined ? null : (
      <>
        <span className="sep">/</span>
        <Link to="/r/$repository/images" params={{ repository }} search={{ image }}>
          {image}
        </Link>
      </>
    )}
    {reference === undefined ? null : (
      <>
        <span className="sep">:</span>
        <strong>{reference.slice(0, 19)}</strong>
      </>
    )}
  </nav>
)

const Filter = ({ label }: { readonly label: string }) => {
  const { contains = '' } = useSearch({ from: '/r/$repository/images' })
  const navigate = useNavigate({ from: '/r/$repository/images' })
  const [text, setText] = useState(contains)
  return (
    <TextInput
      className="grow"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        void navigate({ search: (before) => ({ ...before, contains: event.currentTarget.value }), replace: true })
      }}
    />
  )
}

const List = ({ repository }: { readonly repository: string }) => {
  const { contains = '' } = useSearch({ from: '/r/$repository/images' })
  const list = usePages('listRepositoryImages', (after) => ({
    path: { repository },
    query: {
      limit: 100,
      ...(contains === '' ? {} : { contains }),
      ...(after === undefined ? {} : { after: String(after) }),
    },
  }))
  return (
    <Page title={t('tab.images')} lead={t('images.lead')}>
      <div className="filters">
        <Filter label={t('repositories.filter')} />
      </div>
      <Listed
        of={list}
        label={t('tab.images')}
        keyOf={({ name }) => name}
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(140px, 3fr)',
            show: ({ name }) => (
              <Link to="/r/$repository/images" params={{ repository }} search={{ image: name }}>
                <Icon name="stack" />
                <span className="mono">{name}</span>
              </Link>
            ),
          },
          { key: 'tags', label: t('images.tags'), width: '72px', end: true, show: ({ tags }) => tags },
          {
            key: 'manifests',
            label: t('images.manifests'),
            width: '96px',
            end: true,
            wide: true,
            show: ({ manifests }) => manifests,
          },
          {
            key: 'pushed',
            label: t('images.pushed'),
            width: '128px',
            show: ({ pushedAt }) => <Moment at={pushedAt} />,
          },
        ]}
        empty={
          <Empty icon="stack" title={contains === '' ? t('images.none') : t('list.nothing')}>
            <p className="muted">{t('images.how')}</p>
            <Commands text={imageCommand(repository)} what={t('images.command')} />
          </Empty>
        }
      />
    </Page>
  )
}

interface OfImage {
  readonly repository: string
  readonly image: string
}

const Tags = ({ repository, image }: OfImage) => {
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
  const remove = useChange('deleteImageTag', ['listImageTags', 'listRemovedTags'])
  const put = useChange('setImageTag', ['listImageTags', 'listRemovedTags'])
  const submit = async (): Promise<void> => {
    if (removing === null) return
    const { tag, digest } = removing
    await remove.mutateAsync({ path: { repository }, query: { image, tag, expectedDigest: digest } })
    setRemoving(null)
    tell(t('images.wasUntagged', { tag }), () =>
      put.mutate(
        { path: { repository }, body: { image, tag, digest, expectedDigest: null } },
        { onError: tellProblem },
      ),
    )
  }
  return (
    <Page title={image} mono lead={<Way repository={repository} image={image} />}>
      <div className="filters">
        <Filter label={t('images.filter')} />
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
        columns={[
          {
            key: 'tag',
            label: t('images.tag'),
            width: 'minmax(120px, 2fr)',
            show: ({ tag }) => (
              <Link to="/r/$repository/images" params={{ repository }} search={{ image, reference: tag }}>
                <Icon name="tag" />
                <span className="mono">{tag}</span>
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
          {
            key: 'size',
            label: t('list.size'),
            width: '88px',
            end: true,
            show: ({ contentSize }) => <Size bytes={contentSize} />,
          },
          {
            key: 'moved',
            label: t('images.moved'),
            width: '128px',
            wide: true,
            show: ({ movedAt }) => <Moment at={movedAt} />,
          },
          {
            key: 'who',
            label: t('list.who'),
            width: 'minmax(80px, 1fr)',
            wide: true,
            show: ({ actor, actorName }) => <Actor actor={actor} name={actorName} />,
          },
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

const Manifest = ({ repository, image, reference }: OfImage & { readonly reference: string }) => {
  const read = useAsk('getImageManifest', { path: { repository }, query: { image, reference } })
  const referrers = useAsk(
    'listImageReferrers',
    { path: { repository }, query: { image, digest: read.data?.digest ?? '', limit: 50 } },
    { enabled: read.data !== undefined },
  )
  return (
    <Page
      title={`${image}:${reference.slice(0, 19)}`}
      mono
      lead={<Way repository={repository} image={image} reference={reference} />}
    >
      <Shown of={read}>
        {(manifest) => (
          <>
            <div className="panel">
              <Facts
                facts={[
                  [t('images.digest'), <Digest key="d" sha256={manifest.digest} />],
                  [t('images.content'), <Size key="s" bytes={manifest.contentSize} />],
                  [t('images.platforms'), manifest.platforms.join(', ') || '–'],
                  [t('images.pushed'), <Moment key="p" at={manifest.pushedAt} />],
                  [t('list.who'), <Actor key="w" actor={manifest.actor} name={manifest.actorName} />],
                  [t('images.tags'), manifest.tags.join(', ') || '–'],
                  [t('list.stages'), manifest.stages.join(', ') || '–'],
                ]}
              />
            </div>
            {manifest.manifests.length === 0 ? null : (
              <Section title={t('images.inside')}>
                <Parts
                  rows={manifest.manifests.map((each) => ({
                    ...each,
                    name: each.platform ?? each.mediaType,
                    size: each.contentSize ?? each.size,
                  }))}
                  link={(digest) => ({ repository, image, reference: digest })}
                />
              </Section>
            )}
            {manifest.layers.length === 0 ? null : (
              <Section title={t('images.layers')}>
                <Parts rows={manifest.layers.map((each) => ({ ...each, name: each.mediaType }))} link={null} />
              </Section>
            )}
            {manifest.config?.content?.history === undefined ? null : (
              <Section title={t('images.history')}>
                <ol className="lines panel">
                  {numbered(manifest.config.content.history).map(({ step, key }) => (
                    <li key={key} className="mono small">
                      {step.createdBy ?? step.comment ?? '–'}
                    </li>
                  ))}
                </ol>
              </Section>
            )}
            {referrers.data === undefined || referrers.data.items.length === 0 ? null : (
              <Section title={t('images.referrers')}>
                <Parts
                  rows={referrers.data.items.map((each) => ({ ...each, name: each.artifactType ?? each.mediaType }))}
                  link={(digest) => ({ repository, image, reference: digest })}
                />
              </Section>
            )}
          </>
        )}
      </Shown>
    </Page>
  )
}

/** Steps with what tells each apart from one that reads the same. */
const numbered = <Step,>(steps: readonly Step[]): { readonly step: Step; readonly key: string }[] =>
  steps.map((step, index) => ({ step, key: String(index) }))

interface Part {
  readonly digest: string
  readonly name: string
  readonly size: string
}

const Parts = ({
  rows,
  link,
}: {
  readonly rows: readonly Part[]
  readonly link:
    | ((digest: string) => { readonly repository: string; readonly image: string; readonly reference: string })
    | null
}) => (
  <div className="scroll-x panel">
    <table className="plain-table">
      <thead>
        <tr>
          <th>{t('list.name')}</th>
          <th>{t('images.digest')}</th>
          <th className="end">{t('list.size')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ digest, name, size }) => (
          <tr key={digest + name}>
            <td>
              {link === null ? (
                name
              ) : (
                <Link
                  to="/r/$repository/images"
                  params={{ repository: link(digest).repository }}
                  search={{ image: link(digest).image, reference: digest }}
                >
                  {name}
                </Link>
              )}
            </td>
            <td>
              <Digest sha256={digest} />
            </td>
            <td className="end">
              <Size bytes={size} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
