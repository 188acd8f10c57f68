import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { usePages } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { momentColumn } from '../../parts/columns.tsx'
import { Commands } from '../../parts/copy.tsx'
import { Filter } from '../../parts/filter.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { Written } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { npmCommand } from '../snippets.ts'

/** The npm packages of a repository. */
export const List = ({ repository }: { readonly repository: string }) => {
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
                <Written mono text={name} />
              </Link>
            ),
          },
          {
            key: 'latest',
            label: t('npm.latest'),
            width: '96px',
            show: ({ latest }) => (latest === null ? null : <Written mono text={latest} />),
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
