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
import { imageCommand } from '../snippets.ts'

/** The images of a repository. */
export const List = ({ repository }: { readonly repository: string }) => {
  const { contains = '' } = useSearch({ from: '/r/$repository/images' })
  const navigate = useNavigate({ from: '/r/$repository/images' })
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
        <Filter
          label={t('repositories.filter')}
          value={contains}
          change={(text) => void navigate({ search: (before) => ({ ...before, contains: text }), replace: true })}
        />
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
                <Written mono text={name} />
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
          momentColumn('pushedAt', t('images.pushed'), { wide: 'middle' }),
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
