import { appName, chainName } from '../../api/names.js'
import type { Query } from '../../api/query.js'
import type { Chain, Page, Tank } from '../../api/shapes.js'
import { Loaded } from '../../parts/Loaded.js'
import { hrefOf } from '../../router.js'
import { byUrgency, Free, Lasts, versionOf } from '../tanks/Level.js'

type RunwaysProps = {
  readonly tanks: Query<Page<Tank>>
  readonly chains: readonly Chain[]
}

/** Rows that are listed; the screen of tanks has all. */
const MOST = 8

/** The tanks that end first. */
export function Runways({ tanks, chains }: RunwaysProps) {
  return (
    <section class="card" aria-label="Tanks">
      <h2>Tanks</h2>
      <Loaded query={tanks} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="muted">
              No app has a tank. <a href={hrefOf('tanks')}>How to make one</a>
            </p>
          ) : (
            <ul class="runways">
              {[...items]
                .sort(byUrgency)
                .slice(0, MOST)
                .map((tank) => (
                  <li key={tank.id}>
                    <a href={hrefOf(`tanks/${tank.appId}/${tank.id}`)}>
                      {appName(tank.appId)}{' '}
                      <span class="muted">
                        · {chainName(tank.chainId)} · {versionOf(tank, chains)} · {tank.kind}
                      </span>
                    </a>
                    <Free tank={tank} />
                    <Lasts tank={tank} />
                  </li>
                ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
