import { accountId } from '../../api/call.js'
import { useChanges } from '../../api/changes.js'
import { appName, chainName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import type { App, Chain, Page, Tank } from '../../api/shapes.js'
import { useKeys } from '../../keys.js'
import { ActButton } from '../../parts/ActButton.js'
import { Amount } from '../../parts/Amount.js'
import { Empty } from '../../parts/Empty.js'
import { Hex } from '../../parts/Hex.js'
import { ListActs } from '../../parts/ListActs.js'
import { LoadedRows } from '../../parts/LoadedRows.js'
import { NoAccount } from '../../parts/NoAccount.js'
import { Absent, Split } from '../../parts/Split.js'
import type { Column } from '../../parts/Table.js'
import { go, hrefOf, place } from '../../router.js'
import { byUrgency, Free, kindOf, Lasts, versionOf } from './Level.js'
import { NewTank } from './NewTank.js'
import { TankPanel } from './TankPanel.js'
import './tanks.css'

/** The tanks of the account, and the open one: `tanks/APP/TANK`. */
export function Tanks() {
  const isOfAccount = accountId.value !== undefined
  const [, , tankId] = place.value.path.split('/')
  const tanks = useQuery<Page<Tank>>(isOfAccount ? '/tanks' : undefined)
  const apps = useQuery<Page<App>>(isOfAccount ? '/apps' : undefined)
  const chains = useQuery<Page<Chain>>('/chains')
  useChanges(tanks.refresh, isOfAccount)
  const close = () => go(hrefOf('tanks'))
  const isMaking = place.value.search.has('new')
  const make = () => go(hrefOf('tanks', { new: 'tank' }))
  useKeys('Tanks', mayAct('admin') ? { n: ['new tank', make] } : {})
  if (!isOfAccount) return <NoAccount />
  const live = apps.data?.items.filter(({ revokedAt }) => revokedAt === null)
  const version = (tank: Tank) => versionOf(tank, chains.data?.items ?? [])
  const open = tanks.data?.items.find(({ id }) => id === tankId)
  return (
    <Split
      panel={
        tankId === undefined ? undefined : open === undefined ? (
          <Absent query={tanks} what="tank" all="All tanks" href={hrefOf('tanks')} />
        ) : (
          <TankPanel
            key={open.id}
            tank={open}
            appName={appName(open.appId)}
            version={version(open)}
            onChanged={tanks.refresh}
            onClose={close}
          />
        )
      }
    >
      <div class="row">
        <h1>Tanks</h1>
        <span class="grow" />
        <ListActs
          path="/tanks"
          title="Tanks as code"
          command={`purser tank show --app ${apps.data?.items[0]?.id ?? 'APP'} --chain ${chains.data?.items[0]?.chainId ?? 'CHAIN'}`}
        />
        <ActButton needs="admin" look="primary" onClick={make}>
          New tank
        </ActButton>
      </div>
      <p class="muted">
        A tank is a paymaster contract of an app. Its deposit in the EntryPoint pays for sponsored
        operations; only its owner can take it out.
      </p>
      <div class="list">
        <LoadedRows
          query={tanks}
          lines={5}
          label="Tanks"
          columns={columnsOf(version)}
          shown={(all) => [...all].sort(byUrgency)}
          openKey={tankId}
          keyOf={({ id }) => id}
          hrefOf={({ appId: of, id }) => hrefOf(`tanks/${of}/${id}`)}
          empty={<NoTank onMake={make} />}
        />
      </div>
      {isMaking && live !== undefined && chains.data !== undefined && (
        <NewTank
          apps={live}
          chains={chains.data.items}
          appId={place.value.search.get('appId') ?? undefined}
          onDone={tanks.refresh}
          onClose={() => {
            // The dialog also closes when the new tank was opened.
            if (place.value.search.has('new')) close()
          }}
        />
      )}
    </Split>
  )
}

function NoTank({ onMake }: { onMake(): void }) {
  return (
    <Empty title="No tank yet">
      <p>
        Operations are sponsored from the tank of their app. Create one, deploy it and fund it: any
        wallet can do both.
      </p>
      <p>
        <ActButton needs="admin" look="primary" onClick={onMake}>
          New tank
        </ActButton>
      </p>
    </Empty>
  )
}

function columnsOf(version: (tank: Tank) => string): readonly Column<Tank>[] {
  return [
    { name: 'App', cell: ({ appId }) => <strong>{appName(appId)}</strong> },
    { name: 'Lasts', cell: (tank) => <Lasts tank={tank} /> },
    {
      name: 'Chain',
      cell: (tank) => `${chainName(tank.chainId)} · ${version(tank)} · ${kindOf(tank)}`,
    },
    { name: 'Free', isNumber: true, cell: (tank) => <Free tank={tank} /> },
    {
      name: 'Reserved',
      shown: 'wide',
      isNumber: true,
      cell: ({ chainId, locked }) =>
        locked === null ? '–' : <Amount chainId={chainId} wei={locked} />,
    },
    {
      name: 'Address',
      shown: 'widest',
      cell: ({ address }) => <Hex value={address} what="the tank" />,
    },
  ]
}
