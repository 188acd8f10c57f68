import { Button, TextInput } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { momentColumn, sizeColumn } from '../parts/columns.tsx'
import { Download } from '../parts/download.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Failed, Forbidden, Shown } from '../parts/states.tsx'
import { Digest, Moment, Size, Tag, Written } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { t } from '../words/words.ts'

/** Package versions in the order of SemVer, and what a range would choose of them. */
export const Packages = () => {
  const { repository } = useParams({ from: '/r/$repository/packages' })
  const { name = '', group, version } = useSearch({ from: '/r/$repository/packages' })
  const navigate = useNavigate({ from: '/r/$repository/packages' })
  const allowed = useMay()('listPackages', repository)
  const [text, setText] = useState(name)
  const list = usePages(
    'listPackages',
    (after) => ({
      path: { repository },
      query: {
        ...(name === '' ? {} : { name }),
        ...(group === undefined ? {} : { group }),
        sort: 'version',
        direction: 'desc',
        limit: 100,
        ...(after === undefined ? {} : { after: String(after) }),
      },
    }),
    { enabled: allowed.may },
  )
  if (!allowed.may)
    return (
      <Page title={t('tab.packages')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  return (
    <Page title={t('tab.packages')} lead={t('packages.lead')}>
      {name !== '' && version !== undefined ? (
        <Chosen repository={repository} name={name} group={group} version={version} />
      ) : null}
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault()
          void navigate({ search: text.trim() === '' ? {} : { name: text.trim() } })
        }}
      >
        <TextInput
          className="grow"
          label={t('packages.name')}
          leftSection={<Icon name="search" />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {t('search.go')}
        </Button>
      </form>
      {name === '' ? null : <Tester repository={repository} name={name} group={group} />}
      <Listed
        of={list}
        label={t('tab.packages')}
        keyOf={({ artifactId, group: of, name: called, version: numbered }) =>
          `${of}/${called}/${numbered}/${artifactId}`
        }
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(140px, 2fr)',
            show: (row) => (
              <Link
                to="/r/$repository/packages"
                params={{ repository }}
                search={{ name: row.name, version: row.version, ...(row.group === '' ? {} : { group: row.group }) }}
              >
                <Icon name="box" />
                <Written mono text={row.group === '' ? row.name : `${row.group}/${row.name}`} />
              </Link>
            ),
          },
          {
            key: 'version',
            label: t('packages.version'),
            width: 'minmax(80px, 1fr)',
            show: (row) => <Written mono text={row.version} />,
          },
          {
            key: 'title',
            label: t('packages.title'),
            width: 'minmax(120px, 2fr)',
            wide: true,
            show: ({ manifest }) => (typeof manifest['title'] === 'string' ? manifest['title'] : null),
          },
          {
            key: 'stages',
            label: t('list.stages'),
            width: 'minmax(80px, 1fr)',
            wide: true,
            show: ({ stages }) => (
              <span className="name">
                {stages.map((each) => (
                  <Tag key={each} tone="accent" text={each} />
                ))}
              </span>
            ),
          },
          sizeColumn('size'),
          momentColumn('publishedAt', t('list.published'), { wide: 'middle' }),
        ]}
        empty={
          <Empty title={name === '' ? t('packages.none') : t('search.nothing', { text: name })}>
            <p className="muted">{t('packages.how')}</p>
          </Empty>
        }
      />
    </Page>
  )
}

interface Named {
  readonly repository: string
  readonly name: string
  readonly group: string | undefined
}

const Chosen = ({ repository, name, group, version }: Named & { readonly version: string }) => {
  const found = useAsk('resolvePackage', {
    path: { repository },
    query: { name, version, ...(group === undefined ? {} : { group }) },
  })
  const listed = useAsk('listPackages', {
    path: { repository },
    query: { name, ...(group === undefined ? {} : { group }), limit: 100 },
  })
  const manifest = listed.data?.items.find((each) => each.version === version)?.manifest
  return (
    <Section title={`${group === undefined ? name : `${group}/${name}`} ${version}`}>
      <Shown of={found} rows={2}>
        {({ artifactId, sha256, size, publishedAt, stages }) => (
          <div className="panel">
            <Facts
              facts={[
                [t('list.size'), <Size key="s" bytes={size} />],
                [t('value.digest'), <Digest key="d" sha256={sha256} />],
                [t('list.published'), <Moment key="t" at={publishedAt} />],
                [
                  t('list.stages'),
                  stages.length === 0 ? '–' : stages.map((stage) => <Tag key={stage} tone="accent" text={stage} />),
                ],
                [
                  t('file.artifact'),
                  <Link key="a" to="/r/$repository/artifacts/$id" params={{ repository, id: artifactId }}>
                    {artifactId.slice(0, 13)}…
                  </Link>,
                ],
              ]}
            />
            {manifest === undefined ? null : (
              <pre className="preview-text">
                <Written text={JSON.stringify(manifest, null, 2)} lines />
              </pre>
            )}
            <div className="actions">
              <Download repository={repository} id={artifactId} size={Number(size)} />
            </div>
          </div>
        )}
      </Shown>
    </Section>
  )
}

/** What a client with this range would be given now. */
const Tester = ({ repository, name, group }: Named) => {
  const { range = '', stage = '' } = useSearch({ from: '/r/$repository/packages' })
  const navigate = useNavigate({ from: '/r/$repository/packages' })
  const [typed, setTyped] = useState({ range, stage })
  const chosen = useAsk(
    'resolvePackage',
    {
      path: { repository },
      query: {
        name,
        ...(group === undefined ? {} : { group }),
        ...(range === '' ? {} : { range }),
        ...(stage === '' ? {} : { stage }),
      },
    },
    { enabled: range !== '' || stage !== '' },
  )
  return (
    <Section title={t('packages.tester')}>
      <form
        className="filters panel"
        onSubmit={(event) => {
          event.preventDefault()
          void navigate({ search: (before) => ({ ...before, ...typed }) })
        }}
      >
        <TextInput
          label={t('packages.range')}
          placeholder="^1.2.0"
          value={typed.range}
          onChange={(event) => setTyped({ ...typed, range: event.currentTarget.value })}
        />
        <TextInput
          label={t('artifact.stageName')}
          value={typed.stage}
          onChange={(event) => setTyped({ ...typed, stage: event.currentTarget.value })}
        />
        <Button type="submit" variant="default">
          {t('packages.choose')}
        </Button>
        {chosen.error === null ? (
          chosen.data === undefined ? null : (
            <p role="status">{t('packages.chosen', { version: chosen.data.version })}</p>
          )
        ) : (
          <Failed error={chosen.error} />
        )}
      </form>
    </Section>
  )
}
