class LoomArgs:
    model_path: A[str, "Where the weights are."]
    port: A[int, "Port to listen on."] = 8000
    graph_max_batch_decode: A[Optional[int], "Largest batch with a graph, decode."] = None
    graph_max_batch_prefill: A[Optional[int], "Largest batch with a graph, prefill."] = None
