import { Link, useSearch } from '@tanstack/react-router'
import { usePages } from '../../contract/asking.ts'
import type { RepositoryAction } from '../../contract/generated.ts'
import { Icon } from '../../look/icons.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, Forbidden } from '../../parts/states.tsx'
import { Tag } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'

const asked = [
  'content.read',
  'upload.create',
  'artifact.promote',
  'artifact.delete',
  'storage.manage',
] as const satisfies readonly RepositoryAction[]

/** Who may what in a repository, and by what: people, service accounts and keys of the keys file. */
export const Matrix = () => {
  const { repository: chosen } = useSearch({ from: '/access' })
  const allowed = useMay()('listWhoMay')
  const all = usePages('listAllRepositories', () => ({ query: { limit: 100 } }), { enabled: allowed.may })
  const names = all.data?.pages.flatMap(({ items }) => items.map(({ id }) => id)) ?? []
  const repository = chosen ?? names[0] ?? ''
  const who = usePages(
    'listWhoMay',
    (after) => ({ query: { repository, limit: 100, ...(after === undefined ? {} : { after: String(after) }) } }),
    { enabled: repository !== '' },
  )
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <Section title={said('access.tab', 'matrix')}>
      <nav className="line" aria-label={t('list.repository')}>
        {names.map((name) => (
          <Link key={name} to="/access" search={{ tab: 'matrix', repository: name }}>
            <Tag tone={name === repository ? 'accent' : 'plain'} text={name} />
          </Link>
        ))}
      </nav>
      <Listed
        of={who}
        label={said('access.tab', 'matrix')}
        keyOf={({ who: { kind, id } }) => `${kind}:${id}`}
        columns={[
          {
            key: 'who',
            label: t('list.who'),
            width: 'minmax(120px, 2fr)',
            show: ({ who: { kind, name } }) => (
              <span className="name">
                <Icon name={kind === 'account' ? 'shield' : 'key'} />
                <Link to="/access" search={{ tab: 'explain', who: name, repository }}>
                  {name}
                </Link>
              </span>
            ),
          },
          ...asked.map((action) => ({
            key: action,
            label: said('matrix', action),
            width: '64px',
            wide: action !== 'content.read' && action !== 'upload.create',
            show: ({ actions }: { readonly actions: readonly RepositoryAction[] }) =>
              actions.includes(action) ? (
                <span className="line">
                  <Icon name="check" />
                  <span className="off-screen">{t('npm.yes')}</span>
                </span>
              ) : (
                <span className="muted">–</span>
              ),
          })),
          {
            key: 'through',
            label: t('access.through'),
            width: 'minmax(120px, 2fr)',
            show: ({ through }) => through.map(({ kind, name }) => `${said('giver', kind)} ${name}`).join(', '),
          },
        ]}
        empty={<Empty icon="people" title={t('access.nobodyMay')} />}
      />
    </Section>
  )
}
