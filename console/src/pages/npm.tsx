import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { actorColumn, momentColumn, sizeColumn } from '../parts/columns.tsx'
import { Commands } from '../parts/copy.tsx'
import { Filter } from '../parts/filter.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Moment, Size, Tag } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { npmCommand } from './snippets.ts'

/** The npm packages of a repository, and the versions of one. */
export const Npm = () => {
  const { repository } = useParams({ from: '/r/$repository/npm' })
  const { package: named } = useSearch({ from: '/r/$repository/npm' })
  const allowed = useMay()('listNpmPackages', repository)
  if (!allowed.may)
    return (
      <Page title={t('tab.npm')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  return named === undefined ? <List repository={repository} /> : <Versions repository={repository} name={named} />
}

const List = ({ repository }: { readonly repository: string }) => {
  const { contains = '' } = useSearch({ from: '/r/$repository/npm' })
  const navigate = useNavigate({ from: '/r/$repository/npm' })
  const list = usePages('listNpmPackages', (after) => ({
    path: { repository },
    query: {
      limit: 100,
      ...(contains === '' ? {} : { contains }),
      ...(after === undefined ? {} : { after: String(after) }),
    },
  }))
  return (
    <Page title={t('tab.npm')} lead={t('npm.lead')}>
      <div className="filters">
        <Filter
          label={t('repositories.filter')}
          value={contains}
          change={(text) => void navigate({ search: (before) => ({ ...before, contains: text }), replace: true })}
        />
      </div>
      <Listed
        of={list}
        label={t('tab.npm')}
        keyOf={({ name }) => name}
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(140px, 2fr)',
            show: ({ name }) => (
              <Link to="/r/$repository/npm" params={{ repository }} search={{ package: name }}>
                <Icon name="box" />
                <span className="mono">{name}</span>
              </Link>
            ),
          },
          {
            key: 'latest',
            label: t('npm.latest'),
            width: '96px',
            show: ({ latest }) => <span className="mono">{latest}</span>,
          },
          {
            key: 'versions',
            label: t('npm.versions'),
            width: '80px',
            end: true,
            wide: true,
            show: ({ versions }) => versions,
          },
          {
            key: 'description',
            label: t('npm.about'),
            width: 'minmax(120px, 3fr)',
            wide: true,
            show: ({ description }) => description,
          },
          momentColumn('modifiedAt', t('list.changed'), { wide: true }),
        ]}
        empty={
          <Empty title={contains === '' ? t('npm.none') : t('list.nothing')}>
            <p className="muted">{t('npm.how')}</p>
            <Commands text={npmCommand(repository)} what={t('npm.command')} />
          </Empty>
        }
      />
    </Page>
  )
}

interface OfPackage {
  readonly repository: string
  readonly name: string
}

const Versions = ({ repository, name }: OfPackage) => {
  const { version } = useSearch({ from: '/r/$repository/npm' })
  const list = usePages('listNpmVersions', (after) => ({
    path: { repository },
    query: { package: name, limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Page
      title={name}
      mono
      lead={
        <Link to="/r/$repository/npm" params={{ repository }} search={{}}>
          {t('tab.npm')}
        </Link>
      }
    >
      {version === undefined ? null : <Version repository={repository} name={name} version={version} />}
      <Listed
        of={list}
        label={t('npm.versions')}
        keyOf={(row) => row.version}
        columns={[
          {
            key: 'version',
            label: t('packages.version'),
            width: 'minmax(100px, 1fr)',
            show: (row) => (
              <Link to="/r/$repository/npm" params={{ repository }} search={{ package: name, version: row.version }}>
                <span className="mono">{row.version}</span>
              </Link>
            ),
          },
          {
            key: 'tags',
            label: t('images.tags'),
            width: 'minmax(100px, 2fr)',
            show: ({ tags, deprecated }) => (
              <span className="name">
                {tags.map((each) => (
                  <Tag key={each} tone="accent" text={each} />
                ))}
                {deprecated === null ? null : <Tag tone="warn" text={t('npm.deprecated')} />}
              </span>
            ),
          },
          sizeColumn('size'),
          momentColumn('publishedAt', t('list.published'), { wide: true }),
          actorColumn({ width: 'minmax(80px, 1fr)', wide: true }),
        ]}
        empty={<Empty title={t('list.nothing')} />}
      />
      <Deleted repository={repository} name={name} />
    </Page>
  )
}

const Version = ({ repository, name, version }: OfPackage & { readonly version: string }) => {
  const read = useAsk('getNpmVersion', { path: { repository }, query: { package: name, version } })
  return (
    <Section title={`${name}@${version}`}>
      <Shown of={read} rows={3}>
        {(found) => (
          <div className="panel">
            {found.deprecated === null ? null : <p className="band warn">{found.deprecated}</p>}
            <Facts
              facts={[
                [t('list.size'), <Size key="s" bytes={found.size} />],
                [t('npm.unpacked'), <Size key="u" bytes={found.unpackedSize} />],
                [t('npm.files'), found.files],
                [
                  t('npm.dependencies'),
                  Object.entries(found.dependencies)
                    .map(([of, range]) => `${of} ${range}`)
                    .join(', ') || '–',
                ],
                [t('npm.attested'), found.attested ? t('npm.yes') : t('npm.no')],
                [
                  t('npm.integrity'),
                  <code key="i" className="small">
                    {found.integrity}
                  </code>,
                ],
              ]}
            />
            {found.readme === null ? null : <pre className="preview-text">{found.readme}</pre>}
          </div>
        )}
      </Shown>
    </Section>
  )
}

const Deleted = ({ repository, name }: OfPackage) => {
  const deleted = useAsk('listDeletedNpmVersions', { path: { repository }, query: { package: name, limit: 50 } })
  const restore = useChange('restoreNpmVersion', ['listDeletedNpmVersions', 'listNpmVersions'])
  if (deleted.data === undefined || deleted.data.items.length === 0) return null
  return (
    <Section title={t('artifacts.deleted')}>
      <ul className="lines">
        {deleted.data.items.map(({ version, deletedAt, keptUntil }) => (
          <li key={version} className="panel spread">
            <span className="line">
              <code>{version}</code>
              <span className="muted small">
                <Moment at={deletedAt} /> · {t('artifacts.until')} <Moment at={keptUntil} />
              </span>
            </span>
            <Act
              by="restoreNpmVersion"
              on={repository}
              size="compact-xs"
              icon="undo"
              label={t('artifacts.restore')}
              run={() =>
                restore.mutate(
                  { path: { repository }, body: { package: name, version } },
                  { onError: tellProblem, onSuccess: () => tell(t('artifacts.restored', { name: version })) },
                )
              }
            />
          </li>
        ))}
      </ul>
    </Section>
  )
}
