import json, math

v = json.load(open("/tmp/lead/hp2/vm.json"))
o = json.load(open("/tmp/lead/hp2/ours.json"))
r = []
for k in v:
    out = open(f"/tmp/lead/hp2/{k}.out").read().rstrip("\n")
    same = out == "\n".join(v[k]["output"])
    r.append(v[k]["milliseconds"] / o[k])
    print(
        f"{k:10} vm {v[k]['milliseconds']:.3f} ours {o[k]} ratio {r[-1]:.1f} same {same}",
        "" if same else (out, v[k]["output"]),
    )
print("geomean", math.exp(sum(map(math.log, r)) / len(r)), "min", min(r))
