/** The groups of two and more nodes of a graph that reach each other (Tarjan's algorithm). */
export function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const visit = (node: string): number => {
    const index = order.size
    order.set(node, index)
    lowest.set(node, index)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      const known = order.get(next)
      const reached = known === undefined ? visit(next) : stack.includes(next) ? known : index
      lowest.set(node, Math.min(lowest.get(node) ?? index, reached))
    }
    const low = lowest.get(node) ?? index
    if (low === index) {
      const group = stack.splice(stack.indexOf(node))
      if (group.length > 1) circles.push(group.sort())
    }
    return low
  }
  for (const node of edges.keys()) if (!order.has(node)) visit(node)
  return circles
}
