import { Link } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Section } from '../../parts/page.tsx'
import { Written } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** The paths that lead to a file. */
export const Paths = ({ repository, id }: Of) => {
  const paths = useAsk(
    'listArtifactPaths',
    { path: { repository, id }, query: { limit: 50 } },
    { enabled: useMay()('listArtifactPaths', repository).may },
  )
  if (paths.data === undefined || paths.data.items.length + paths.data.packages.length === 0) return null
  return (
    <Section title={t('artifact.paths')}>
      <ul className="panel">
        {paths.data.items.map(({ path, revision }) => (
          <li key={path} className="line">
            <Icon name="file" />
            <Link className="mono" to="/r/$repository/file/$" params={{ repository, _splat: path }}>
              <Written text={path} />
            </Link>
            <span className="muted small">{t('file.revision', { revision })}</span>
          </li>
        ))}
        {paths.data.packages.map(({ group, name, version }) => (
          <li key={group + name + version} className="line">
            <Icon name="box" />
            <Link
              className="mono"
              to="/r/$repository/packages"
              params={{ repository }}
              search={{ group, name, version }}
            >
              {group === '' ? name : `${group}/${name}`} {version}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
