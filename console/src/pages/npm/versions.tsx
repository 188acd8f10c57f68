import { Link } from '@tanstack/react-router'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { BulkAct } from '../../parts/bulk-act.tsx'
import { boxColumn, ChoiceBar, useChosen } from '../../parts/choice.tsx'
import { actorColumn, momentColumn, sizeColumn } from '../../parts/columns.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Moment, Tag, Written } from '../../parts/values.tsx'
import { ask } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import { type OfPackage, touchedByDeletion } from './of.ts'
import { Way } from './version.tsx'

/** The versions of an npm package, and those that may come back. */
export const Versions = ({ repository, name }: OfPackage) => {
  const list = usePages('listNpmVersions', (after) => ({
    path: { repository },
    query: { package: name, limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const { chosen, choose, clear } = useChosen()
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const picked = rows.filter((row) => chosen.has(row.version))
  const touch = (key: string, range: boolean): void =>
    choose(
      rows.map((row) => row.version),
      key,
      range,
    )
  return (
    <Page title={name} mono lead={<Way repository={repository} name={name} />}>
      <Listed
        of={list}
        label={t('npm.versions')}
        keyOf={(row) => row.version}
        chosen={chosen}
        choose={touch}
        columns={[
          boxColumn<(typeof rows)[number]>({
            keyOf: (row) => row.version,
            nameOf: (row) => row.version,
            chosen,
            choose: touch,
          }),
          {
            key: 'version',
            label: t('packages.version'),
            width: 'minmax(100px, 1fr)',
            show: (row) => (
              <Link to="/r/$repository/npm" params={{ repository }} search={{ package: name, version: row.version }}>
                <Written mono text={row.version} />
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
          momentColumn('publishedAt', t('list.published'), { wide: 'middle' }),
          actorColumn({ width: 'minmax(80px, 1fr)', wide: true }),
        ]}
        empty={<Empty title={t('list.nothing')} />}
      />
      <ChoiceBar count={picked.length} clear={clear}>
        <BulkAct
          by="deleteNpmVersion"
          repository={repository}
          label={t('npm.delete')}
          what={t('npm.deleting')}
          items={picked.map((row) => ({ id: row.version, name: `${name}@${row.version}` }))}
          touches={touchedByDeletion}
          clear={clear}
          work={(item) => ask('deleteNpmVersion', { path: { repository }, query: { package: name, version: item.id } })}
          undo={(item) => ask('restoreNpmVersion', { path: { repository }, body: { package: name, version: item.id } })}
        />
      </ChoiceBar>
      <Deleted repository={repository} name={name} />
    </Page>
  )
}

const Deleted = ({ repository, name }: OfPackage) => {
  const deleted = useAsk('listDeletedNpmVersions', { path: { repository }, query: { package: name, limit: 50 } })
  const restore = useChange('restoreNpmVersion', touchedByDeletion)
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
